import { Problem } from './problem.ts';

/** The problem of an account that does not exist. */
export function accountNotFound(): Problem {
  return new Problem(
    'account_not_found',
    'GET /v1/accounts lists the accounts; PUT on this path creates it.',
  );
}

/** The problem of a subscription that does not exist. */
export function subscriptionNotFound(): Problem {
  return new Problem('subscription_not_found', 'GET the list of subscriptions for those there are.');
}

/** The problem of a token that does not exist. */
export function tokenNotFound(): Problem {
  return new Problem('token_not_found', 'GET the list of tokens to see their ids.');
}

/** The problem of a replay that does not exist, or whose subscription is gone. */
export function replayNotFound(): Problem {
  return new Problem('replay_not_found', 'POST …/replay returns the id; its subscription must still exist.');
}

/** The problem of a filing that was never seen. */
export function filingNotFound(): Problem {
  return new Problem(
    'filing_not_found',
    'No poll of this account has seen it; GET …/filings?q= finds filings.',
  );
}
