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

/** The problem of a filing that was never seen. */
export function filingNotFound(): Problem {
  return new Problem(
    'filing_not_found',
    'No poll of this account has seen it; GET …/filings?q= finds filings.',
  );
}

/** The problem of an attempt that does not exist, or is no longer kept. */
export function attemptNotFound(): Problem {
  return new Problem(
    'attempt_not_found',
    'GET …/attempts lists the attempts with their ids; they are kept as long as events.',
  );
}

/** Where an event was searched for: in the `whole` log, its `newest` part, or among those of a `filing`. */
export type EventSearch = keyof typeof eventWords;

const eventWords = {
  whole:
    'The log has no event with this id; an id is the webhook-id of a callback, and events are kept for EVENT_RETENTION_MS.',
  newest:
    'The newest half a million events of the log have no such id; add ?filingId= with the filing of the event to find an older one.',
  filing:
    'The log has no event of the filing in filingId with this id; leave filingId out to search the events of all filings.',
} as const;

/** The problem of an event that is not in the log. */
export function eventNotFound(searched: EventSearch = 'whole'): Problem {
  return new Problem('event_not_found', eventWords[searched]);
}
