/** The mark in place of a URL's path and query, in which receivers keep credentials. */
export const hiddenPath = '/…';

/** A callback URL as holders of read-only tokens see it: its origin and the mark; pure. */
export function hideUrlPath(url: string): string {
  return URL.canParse(url) ? new URL(url).origin + hiddenPath : '';
}

/** Whether a URL was copied from where its path is hidden; pure. */
export function isHiddenUrl(url: string): boolean {
  return url.endsWith(hiddenPath) || url.endsWith(encodeURI(hiddenPath));
}
