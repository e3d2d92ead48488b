import { failureDetails, type CallbackResult } from '../result.ts';
import type { TokenFailure, UnaskedToken } from './access-token.ts';
import type { Bearer } from './bearers.ts';

/**
 * Sends a callback with a token. A 401 replaces the token and sends once more, as the same attempt; the
 * second response stands. The result does not contain the token, even where the receiver repeats it.
 */
export async function sendAuthorized(
  bearer: Bearer,
  eager: boolean,
  send: (authorization: string) => Promise<CallbackResult>,
): Promise<CallbackResult | TokenFailure | UnaskedToken> {
  const first = await bearer.current(eager);
  if (first.kind !== 'token') return first;
  const result = await send(`Bearer ${first.token.value}`);
  if (result.kind !== 'response' || result.statusCode !== 401) return withoutToken(result, first.token.value);
  const second = await bearer.replace(first.token);
  if (second === null) return withoutToken(result, first.token.value);
  if (second.kind !== 'token') return second;
  return withoutToken(await send(`Bearer ${second.token.value}`), second.token.value);
}

const mask = '***';
// Minimum characters of a token that are masked where the excerpt ends within it.
const partLengthMin = 8;

function withoutToken(result: CallbackResult, token: string): CallbackResult {
  if (result.kind === 'failure') {
    const { code, detail } = result;
    const hasToken = detail.includes(JSON.stringify(token.slice(0, partLengthMin)).slice(1, -1));
    return hasToken ? { ...result, detail: failureDetails[code] } : result;
  }
  const headers = Object.entries(result.headers).map(([name, value]): [string, typeof value] => [
    name,
    typeof value === 'string' ? hide(value, token) : value?.map((each) => hide(each, token)),
  ]);
  return { ...result, excerpt: hide(result.excerpt, token), headers: Object.fromEntries(headers) };
}

/** The text with a mask in place of the token, and of its beginning where the text ends within it. */
function hide(text: string, token: string): string {
  const masked = text.replaceAll(token, mask);
  for (let length = Math.min(token.length - 1, masked.length); length >= partLengthMin; length -= 1)
    if (masked.endsWith(token.slice(0, length))) return masked.slice(0, -length) + mask;
  return masked;
}
