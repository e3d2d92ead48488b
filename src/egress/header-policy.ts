/** Custom headers a subscription may carry at most. */
export const CUSTOM_HEADERS_MAX = 20;

const NAME_LENGTH_MAX = 100;
const VALUE_LENGTH_MAX = 2048;
const TOTAL_LENGTH_MAX = 8192;

/**
 * Either the headers may be sent as they are, or there is one sentence per mistake; values are never repeated
 * in them.
 */
export type HeaderCheck =
  { readonly ok: true } | { readonly ok: false; readonly problems: readonly string[] };

/**
 * Judges the headers a subscriber wants on its callbacks. Names are tokens (RFC 9110 §5.6.2), values are
 * printable ASCII with inner spaces and tabs; framing, routing, identity and signature headers belong to this
 * service. Everything accepted here can be sent.
 */
export function checkCustomHeaders(headers: Readonly<Record<string, string>>): HeaderCheck {
  const entries = Object.entries(headers);
  const problems = entries.flatMap(([name, value]) => problemsOf(name, value));
  problems.push(...repeatedNames(entries.map(([name]) => name.toLowerCase())));
  if (entries.length > CUSTOM_HEADERS_MAX)
    problems.push(`At most ${CUSTOM_HEADERS_MAX} headers are allowed.`);
  const total = entries.reduce((sum, [name, value]) => sum + name.length + value.length, 0);
  if (total > TOTAL_LENGTH_MAX) {
    problems.push(`All headers together must not exceed ${TOTAL_LENGTH_MAX} characters.`);
  }
  return problems.length === 0 ? { ok: true } : { ok: false, problems };
}

function problemsOf(name: string, value: string): string[] {
  const label = `Header ${JSON.stringify(name.slice(0, NAME_LENGTH_MAX))}`;
  const problems: string[] = [];
  if (!isToken(name)) problems.push(`${label} has no valid name.`);
  else if (isReserved(name.toLowerCase()))
    problems.push(`${label} is set by this service or the connection.`);
  if (name.length > NAME_LENGTH_MAX)
    problems.push(`${label} has a name longer than ${NAME_LENGTH_MAX} characters.`);
  if (value.length > VALUE_LENGTH_MAX) {
    problems.push(`${label} has a value longer than ${VALUE_LENGTH_MAX} characters.`);
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
    (name) => `Header ${JSON.stringify(name.slice(0, NAME_LENGTH_MAX))} appears more than once.`,
  );
}

const RESERVED_PREFIXES = ['proxy-', 'sec-', 'svix-', 'webhook-', 'x-forwarded-'];

const RESERVED_NAMES = new Set([
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

/** A proxy that reads `_` as `-` would otherwise be handed `transfer_encoding` or `webhook_id`. */
function isReserved(name: string): boolean {
  const hyphened = name.replaceAll('_', '-');
  return (
    RESERVED_NAMES.has(name) ||
    RESERVED_NAMES.has(hyphened) ||
    hyphened.endsWith('-signature') ||
    RESERVED_PREFIXES.some((prefix) => hyphened.startsWith(prefix))
  );
}
