/**
 * The endpoints of the service by the names that faults and counters use; `unknown` is every other path or
 * method.
 */
export const ENDPOINTS = [
  'me',
  'filing-states',
  'calculate',
  'upload-user-file',
  'create-filing',
  'filing',
  'filings',
  'get-state-rates',
  'storage',
  'unknown',
] as const;

export type Endpoint = (typeof ENDPOINTS)[number];

const PARTNER_PREFIX = '/v1/partner/';
const STORAGE_PREFIX = '/_storage/';

/** The endpoint of a route by its pattern, such as `/v1/partner/:id`; undefined is no route. */
export function endpointOf(routePattern: string | undefined): Endpoint {
  if (routePattern?.startsWith(STORAGE_PREFIX) === true) return 'storage';
  if (routePattern?.startsWith(PARTNER_PREFIX) !== true) return 'unknown';
  const segment = routePattern.slice(PARTNER_PREFIX.length).split('/')[0];
  if (segment === ':id') return 'filing';
  return ENDPOINTS.find((endpoint) => endpoint === segment) ?? 'unknown';
}
