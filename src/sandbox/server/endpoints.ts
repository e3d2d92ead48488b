/**
 * The endpoints of the service by the names that faults and counters use; `unknown` is every other path or
 * method.
 */
export const endpoints = [
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

export type Endpoint = (typeof endpoints)[number];

const partnerPrefix = '/v1/partner/';
const storagePrefix = '/_storage/';

/** The endpoint of a route by its pattern, such as `/v1/partner/:id`; undefined is no route. */
export function endpointOf(routePattern: string | undefined): Endpoint {
  if (routePattern?.startsWith(storagePrefix) === true) return 'storage';
  if (routePattern?.startsWith(partnerPrefix) !== true) return 'unknown';
  const segment = routePattern.slice(partnerPrefix.length).split('/')[0];
  if (segment === ':id') return 'filing';
  return endpoints.find((endpoint) => endpoint === segment) ?? 'unknown';
}
