// What the stage of a preview prints if the overlay cannot be mounted (overlay.ts). explain.ts looks for it.
export const OVERLAY_FAILED = "nacre: no overlay";
