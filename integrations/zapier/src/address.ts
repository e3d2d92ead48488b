/** The daemon's address in one form: without a path of the API, a query or a slash at its end; a sentence where it is no address to use. */
export function readAddress(text: unknown): { url: URL; base: string } | { wrong: string } {
  const given = typeof text === 'string' ? text.trim() : '';
  const url = URL.canParse(given) ? new URL(given) : null;
  if (url === null || !/^https?:$/.test(url.protocol))
    return {
      wrong: `"${given}" is not an address. Enter the daemon's address as https://filings.example.com.`,
    };
  if (url.protocol === 'http:' && !isLoopback(url.hostname))
    return {
      wrong: `${url.origin} is not encrypted: the token could be read on its way. Use an address that begins with https://.`,
    };
  if (url.username !== '' || url.password !== '')
    return {
      wrong: 'The address holds a user name or password. Leave them out: the token has a field of its own.',
    };
  const path = url.pathname.replace(/\/+$/, '').replace(/\/(?:v1|docs|openapi\.json)$/, '');
  return { url, base: `${url.origin}${path}` };
}

function isLoopback(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127(?:\.\d{1,3}){3}$/.test(hostname);
}
