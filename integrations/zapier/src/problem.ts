/** An error of the API (RFC 9457), as docs/problems.md lists them; null for a body that is none. */
export interface Problem {
  readonly code: string;
  readonly detail: string;
  readonly errors: readonly { readonly path: string; readonly message: string }[];
}

/** What Zapier is to do about an answer of the API. */
export type Failure =
  /** The connection is expired: runs are held, and Zapier asks its owner to reconnect. */
  | { readonly kind: 'reconnect'; readonly message: string }
  /** The same request again after so many seconds. */
  | { readonly kind: 'wait'; readonly message: string; readonly seconds: number }
  /** The run ends without counting as an error of the Zap. */
  | { readonly kind: 'halt'; readonly message: string }
  | { readonly kind: 'fail'; readonly message: string; readonly code: string };

// Seconds until a proxy in front of the daemon is asked again.
const proxySeconds = 60;
// What a proxy answers when there is no daemon behind it.
const proxyStatuses = new Set([502, 503, 504]);

/** Reads the body of an answer. */
export function readProblem(body: unknown): Problem | null {
  if (typeof body !== 'object' || body === null) return null;
  const { code, detail, errors } = body as Record<string, unknown>;
  if (typeof code !== 'string' || typeof detail !== 'string') return null;
  return { code, detail, errors: Array.isArray(errors) ? (errors as Problem['errors']) : [] };
}

/** Decides on an answer that is not a 2xx. `retryAfter` is the header of that name, null where there is none. */
export function judge(
  status: number,
  problem: Problem | null,
  retryAfter: string | null,
  asked: { readonly base: string; readonly account: string },
): Failure {
  if (problem === null) return judgeStranger(status, asked.base);
  const message = [problem.detail, ...problem.errors.map(readError)].join(' ');
  if (status === 401)
    return {
      kind: 'reconnect',
      message: `${message} Make a new token for this account and reconnect filing-webhooks with it.`,
    };
  if (status === 404 && (problem.code === 'not_found' || problem.code === 'account_not_found'))
    return {
      kind: 'fail',
      message: `There is no account "${asked.account}" at ${asked.base}, or not for this token. Check the name of the account in the connection, and that the token is one of it.`,
      code: problem.code,
    };
  const seconds = Number.parseInt(retryAfter ?? '', 10);
  if ((status === 429 || status === 503) && seconds >= 0) return { kind: 'wait', message, seconds };
  if (problem.code === 'filing_not_rejected') return { kind: 'halt', message };
  return { kind: 'fail', message, code: problem.code };
}

/** An answer that no daemon gives: of a proxy, or of another program at this address. */
function judgeStranger(status: number, base: string): Failure {
  if (proxyStatuses.has(status))
    return {
      kind: 'wait',
      message: `The daemon behind ${base} does not answer at the moment (status ${status}).`,
      seconds: proxySeconds,
    };
  return {
    kind: 'fail',
    message: `Something else than filing-webhooks answers at ${base} (status ${status}). Check the address of the connection: it is where the daemon's dashboard opens.`,
    code: 'not_filing_webhooks',
  };
}

function readError({ path, message }: Problem['errors'][number]): string {
  const sentence = /[.!?]$/.test(message) ? message : `${message}.`;
  return path === '' ? sentence : `${path}: ${sentence}`;
}
