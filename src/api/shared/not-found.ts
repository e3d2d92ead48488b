import { accountNameWords } from './patterns.ts';
import { Problem } from './problem.ts';

/** The problem of an account that does not exist. */
export function accountNotFound(): Problem {
  return new Problem(
    'account_not_found',
    'GET /v1/accounts lists the accounts; PUT /v1/accounts/{account} creates this one.',
  );
}

/** The problem of an account whose name no account can have. */
export function noAccountName(): Problem {
  return new Problem('account_not_found', `No account has such a name: it is ${accountNameWords}.`);
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
