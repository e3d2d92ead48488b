/** Maximum number of custom headers of a subscription. */
export const customHeadersMax = 20;

/** Maximum characters of the name of a custom header. */
export const headerNameLengthMax = 100;

/** Maximum characters of the value of a custom header. */
export const headerValueLengthMax = 2048;

/** The names of headers, tokens of RFC 9110 §5.6.2, as a regular expression. */
export const headerNamePattern = "^[!#$%&'*+.^_`|~0-9A-Za-z-]+$";

/** The values of custom headers as a regular expression: printable ASCII with inner spaces and tabs. */
export const headerValuePattern = '^(?:[!-~](?:[\\t -~]*[!-~])?)?$';

const totalLengthMax = 8192;
const nameForm = new RegExp(headerNamePattern);
const valueForm = new RegExp(headerValuePattern);

/** One mistake; `message` goes on from the name of the header, and repeats no value. */
export interface HeaderProblem {
  /** The header; null for a mistake of all headers together. */
  readonly name: string | null;
  readonly message: string;
}

/** The verdict on the headers: valid, or what is wrong, one mistake for each header. */
export type HeaderCheck =
  { readonly ok: true } | { readonly ok: false; readonly problems: readonly HeaderProblem[] };

/**
 * Judges the custom headers of a subscription. Names are tokens (RFC 9110 §5.6.2), values are printable ASCII
 * with inner spaces and tabs. Framing, routing, identity and signature headers belong to this service, the
 * connection or proxies. All accepted headers can be sent.
 */
export function checkCustomHeaders(headers: Readonly<Record<string, string>>): HeaderCheck {
  const entries = Object.entries(headers);
  const lowered = entries.map(([name]) => name.toLowerCase());
  const problems: HeaderProblem[] = entries.flatMap(([name, value], i) => {
    const isRepeated = lowered.indexOf(lowered[i] ?? '') !== i;
    const message = problemOf(name, value) ?? (isRepeated ? 'appears more than once' : null);
    return message === null ? [] : [{ name, message }];
  });
  const ofAll = (message: string) => problems.push({ name: null, message });
  if (entries.length > customHeadersMax) ofAll(`must not have more than ${customHeadersMax} fields`);
  const total = entries.reduce((sum, [name, value]) => sum + name.length + value.length, 0);
  if (total > totalLengthMax) ofAll(`must not have more than ${totalLengthMax} characters together`);
  return problems.length === 0 ? { ok: true } : { ok: false, problems };
}

function problemOf(name: string, value: string): string | null {
  if (!nameForm.test(name)) return 'is no name of a header: it may have letters, digits and dashes';
  if (isReserved(name.toLowerCase())) return reservedHint;
  if (name.length > headerNameLengthMax) return `has a name longer than ${headerNameLengthMax} characters`;
  if (value.length > headerValueLengthMax)
    return `has a value longer than ${headerValueLengthMax} characters`;
  return valueForm.test(value) ? null : 'has a value that is not printable ASCII without outer whitespace';
}

const reservedHint =
  'is reserved for this service, the connection or proxies: use Authorization, X-Api-Key or a name of your own';

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
