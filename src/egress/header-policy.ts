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
 * with inner spaces and tabs. Framing, routing, identity and signature headers belong to this service, the
 * connection or proxies. All accepted headers can be sent. Headers that an older version accepted are still
 * sent, and refused when they are next written.
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
  else if (isReserved(name.toLowerCase())) problems.push(`${label} ${reservedHint}`);
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

const reservedHint =
  'is reserved for this service, the connection or proxies: use Authorization, X-Api-Key or a name of your own.';

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

/**
 * Names of which no rule below says what they are: framing and hops (RFC 9110 §7.6.1), what this service
 * sends itself, conditions under which a receiver would not act, and the context of traces.
 */
const reservedNames = new Set([
  'accept-encoding',
  'b3',
  'baggage',
  'cdn-loop',
  'connection',
  'date',
  'early-data',
  'expect',
  'host',
  'http2-settings',
  'idempotency-key', // the same for every callback: the receiver would drop all but the first
  'keep-alive',
  'max-forwards',
  'proto', // what `__proto__` is spelled as
  'range',
  'te',
  'trailer',
  'trailers',
  'transfer-encoding',
  'upgrade',
  'user-agent',
  'via',
  'x-host',
  'x-http-method',
]);

/** First words of names that belong to this service, to HTTP, to proxies or to a cloud's own network. */
const reservedPrefixes = [
  'cf-access-authenticated',
  'cf-access-jwt',
  'cf-ipcountry',
  'cf-ray',
  'cf-visitor',
  'cf-worker',
  'ce', // CloudEvents in binary mode
  'content',
  'if',
  'impersonate',
  'proxy',
  'sec',
  'svix',
  'webhook',
  'x-amz',
  'x-amzn',
  'x-appengine',
  'x-auth-request',
  'x-b3',
  'x-client-dn',
  'x-consumer',
  'x-credential',
  'x-envoy',
  'x-forward',
  'x-goog-authenticated',
  'x-goog-iap',
  'x-ms-client-principal',
  'x-ms-token',
  'x-original',
  'x-rewrite',
  'x-ssl',
  'x-webauth',
  'x-webhook',
];

/** Single words, at any place of a name. */
const reservedWords = new Set(['ip', 'trace']);

/** Parts of names, however their words are separated: signatures, identities, hops and metadata services. */
const reservedParts =
  /signature|hmac|digest|cookie|forwarded|metadata|methodoverride|hostoverride|clientip|realip|socketip|remote(?:user|ip|addr|host)|connectingip|proxyuser|authenticated(?:user|email)|clientcert|sslclient|traceparent|tracestate/;

/**
 * A rule instead of a list: whatever names a signature, an identity, a forwarder or a hop. Each character
 * that is no letter or digit counts as a dash, because some proxies read `transfer_encoding` as
 * `transfer-encoding`. Credentials of one's own (`Authorization`, `X-Api-Key`, `CF-Access-Client-Secret`) are
 * allowed.
 */
function isReserved(name: string): boolean {
  const words = name.split(/[^a-z0-9]+/).filter((word) => word !== '');
  const hyphened = words.join('-');
  return (
    reservedNames.has(hyphened) ||
    reservedPrefixes.some((prefix) => hyphened === prefix || hyphened.startsWith(`${prefix}-`)) ||
    words.some((word) => reservedWords.has(word)) ||
    reservedParts.test(words.join(''))
  );
}
