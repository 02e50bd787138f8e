export const LICENSES_FILE: string;
export function thirdPartyLicenses(): string;
export function writeThirdPartyLicenses(): void;
