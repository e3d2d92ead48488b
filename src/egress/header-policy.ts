/** Maximum number of custom headers of a subscription. */
export const customHeadersMax = 20;

const nameLengthMax = 100;
const valueLengthMax = 2048;
const totalLengthMax = 8192;

/** The verdict on the headers: valid, or one sentence per mistake. No sentence repeats a value. */
export type HeaderCheck =
  { readonly ok: true } | { readonly ok: false; readonly problems: readonly string[] };

/**
 * Judges the custom headers of a subscription. Names are tokens (RFC 9110 §5.6.2), values are printable ASCII
 * with inner spaces and tabs. Framing, routing, identity and signature headers belong to this service. All
 * accepted headers can be sent.
 */
export function checkCustomHeaders(headers: Readonly<Record<string, string>>): HeaderCheck {
  const entries = Object.entries(headers);
  const problems = entries.flatMap(([name, value]) => problemsOf(name, value));
  problems.push(...repeatedNames(entries.map(([name]) => name.toLowerCase())));
  if (entries.length > customHeadersMax) problems.push(`At most ${customHeadersMax} headers are allowed.`);
  const total = entries.reduce((sum, [name, value]) => sum + name.length + value.length, 0);
  if (total > totalLengthMax) {
    problems.push(`All headers together must not exceed ${totalLengthMax} characters.`);
  }
  return problems.length === 0 ? { ok: true } : { ok: false, problems };
}

function problemsOf(name: string, value: string): string[] {
  const label = `Header ${JSON.stringify(name.slice(0, nameLengthMax))}`;
  const problems: string[] = [];
  if (!isToken(name)) problems.push(`${label} has no valid name.`);
  else if (isReserved(name.toLowerCase()))
    problems.push(`${label} is set by this service or the connection.`);
  if (name.length > nameLengthMax)
    problems.push(`${label} has a name longer than ${nameLengthMax} characters.`);
  if (value.length > valueLengthMax) {
    problems.push(`${label} has a value longer than ${valueLengthMax} characters.`);
  }
  if (!isPlainValue(value)) {
    problems.push(`${label} has a value that is not printable ASCII without outer whitespace.`);
  }
  return problems;
}

function isToken(name: string): boolean {
  return /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(name);
}

function isPlainValue(value: string): boolean {
  return value === '' || /^[!-~](?:[\t -~]*[!-~])?$/.test(value);
}

function repeatedNames(names: readonly string[]): string[] {
  const repeated = new Set(names.filter((name, index) => names.indexOf(name) !== index));
  return [...repeated].map(
    (name) => `Header ${JSON.stringify(name.slice(0, nameLengthMax))} appears more than once.`,
  );
}

const reservedPrefixes = ['proxy-', 'sec-', 'svix-', 'webhook-', 'x-forwarded-'];

const reservedNames = new Set([
  '__proto__',
  'accept-encoding',
  'cf-connecting-ip',
  'client-ip',
  'connection',
  'content-encoding',
  'content-length',
  'content-type',
  'cookie',
  'cookie2',
  'date',
  'expect',
  'forwarded',
  'host',
  'http2-settings',
  'keep-alive',
  'set-cookie',
  'set-cookie2',
  'signature', // RFC 9421, like its input
  'signature-input',
  'te',
  'trailer',
  'trailers',
  'transfer-encoding',
  'true-client-ip',
  'upgrade',
  'user-agent',
  'via',
  'x-client-ip',
  'x-cluster-client-ip',
  'x-forwarded',
  'x-host',
  'x-http-method',
  'x-http-method-override',
  'x-method-override',
  'x-original-forwarded-for',
  'x-original-host',
  'x-original-url',
  'x-real-ip',
  'x-rewrite-url',
]);

/** Names with `_` count as well: some proxies read `transfer_encoding` as `transfer-encoding`. */
function isReserved(name: string): boolean {
  const hyphened = name.replaceAll('_', '-');
  return (
    reservedNames.has(name) ||
    reservedNames.has(hyphened) ||
    hyphened.endsWith('-signature') ||
    reservedPrefixes.some((prefix) => hyphened.startsWith(prefix))
  );
}
