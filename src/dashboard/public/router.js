import { useLatest, useMemo } from './html.js';

/**
 * A link within the page; each segment may hold any character.
 * @param {...string} segments
 */
export function href(...segments) {
  return `#/${segments.map((segment) => encodeURIComponent(segment.toWellFormed())).join('/')}`;
}

/**
 * A link with filters, such as `#/accounts/default/filings?status=PENDING`; pure. Filters that are null or
 * empty are left out.
 * @param {string} path as `href` gives it, or of the API
 * @param {Record<string, string | null>} filters
 */
export function withQuery(path, filters) {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(filters))
    if (value !== null && value !== '') query.set(name, value.toWellFormed());
  return query.size === 0 ? path : `${path}${path.includes('?') ? '&' : '?'}${query}`;
}

/**
 * The segments of a hash such as `#/accounts/default?status=PAID`; pure. Empty ones are left out.
 * @param {string} hash
 * @returns {string[]}
 */
export function parseHash(hash) {
  return pathOf(hash)
    .replace(/^#\/?/, '')
    .split('/')
    .filter((segment) => segment !== '')
    .map(decode);
}

/** The hash of the page; renders again when it changes. */
export const useHash = () => useLatest(window, 'hashchange', () => location.hash);

/**
 * The filters in the address, and a function that sets some of them in its place: null or an empty text
 * removes one, and the way back leads past it.
 * @returns {[query: URLSearchParams, setQuery: (filters: Record<string, string | null>) => void]}
 */
export function useQuery() {
  const hash = useHash();
  const query = useMemo(() => new URLSearchParams(hash.slice(pathOf(hash).length)), [hash]);
  return [query, setQuery];
}

/** @param {Record<string, string | null>} filters */
function setQuery(filters) {
  const path = pathOf(location.hash);
  const before = Object.fromEntries(new URLSearchParams(location.hash.slice(path.length)));
  history.replaceState(history.state, '', withQuery(path, { ...before, ...filters }) || '#/');
  dispatchEvent(new Event('hashchange'));
}

/** @type {(hash: string) => string} */
const pathOf = (hash) => /^[^?]*/.exec(hash)?.[0] ?? '';

/** @type {(segment: string) => string} */
function decode(segment) {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}
