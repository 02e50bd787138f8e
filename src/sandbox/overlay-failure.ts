// The text that the stage of a preview prints if it cannot mount the overlay (overlay.ts). explain.ts searches for it.
export const OVERLAY_FAILED = "nacre: no overlay";
