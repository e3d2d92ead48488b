/** Number of filings that a full page of a list holds: the highest limit that the service accepts (docs/partner.md#lists). */
export const pageSize = 100;
