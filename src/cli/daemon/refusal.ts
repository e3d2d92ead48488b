import { CliError, type Failure } from '../cli-error.ts';

interface ProblemBody {
  readonly code?: string;
  readonly title?: string;
  readonly detail?: string;
  readonly errors?: readonly { readonly path: string; readonly message: string }[];
}

/** The command that lists what there is, by the code of a problem about what there is not. */
const lists: Readonly<Record<string, string>> = {
  subscription_not_found: 'filing-webhooks api GET /subscriptions lists those of the account.',
  token_not_found: 'filing-webhooks api GET /tokens lists those of the account.',
  filing_not_found: "filing-webhooks api GET '/filings?q=TEXT' finds one by policy number, insured or id.",
  attempt_not_found: 'filing-webhooks api GET /attempts lists them.',
};

/** The error for the response that is no 2xx to a request for a path, in the words of the command line. */
export async function refusal(
  response: Response,
  url: string,
  account: string,
  requested: string,
): Promise<CliError> {
  const isOurs = response.headers.get('content-type')?.startsWith('application/problem+json') === true;
  const problem = (isOurs ? await response.json().catch(() => ({})) : {}) as ProblemBody;
  if (problem.code === undefined)
    return new CliError(
      'unavailable',
      `${url} is not a filing-webhooks daemon (status ${response.status}): check --url or FILING_WEBHOOKS_URL.`,
    );
  if (response.status === 401)
    return new CliError(
      'refused',
      `${url} does not know the token: take API_TOKEN of that daemon, or a token of the account.`,
    );
  if (problem.code === 'account_not_found')
    return new CliError('refused', missingAccount(account, requested));
  const { title = problem.code, detail = '', errors = [] } = problem;
  const list = lists[problem.code];
  if (list !== undefined) return new CliError('no', `${title}: ${list}`);
  const each =
    errors.length < 2 ? '' : errors.map(({ path, message }) => `\n  ${path || 'body'}: ${message}`).join('');
  return new CliError(failureOf(response.status), `${title}: ${detail}${each}`);
}

// A path that names its account does not take the one of --account.
function missingAccount(account: string, requested: string): string {
  const named = /^\/v1\/accounts\/([^/?]+)/.exec(requested)?.[1];
  return named === undefined
    ? `There is no account ${account} for this token: name another with --account.`
    : `There is no account ${decodeURIComponent(named)} for this token: filing-webhooks api GET /v1/accounts lists those there are.`;
}

function failureOf(status: number): Failure {
  if (status >= 500 || status === 429) return 'unavailable';
  if (status === 403) return 'refused';
  return status === 422 ? 'usage' : 'no';
}
