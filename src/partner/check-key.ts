import type { HostLookup } from '../names/host-lookup.ts';
import type { ProxyAgents } from '../proxy/proxy-agents.ts';
import { createPartnerClient } from './partner-client.ts';
import { PartnerError } from './partner-error.ts';
import { createRequestBudget } from './request-budget.ts';
import type { HostBudgets } from './host-budgets.ts';

/** The outcome of asking a partner service whether it takes an account's key. */
export interface KeyCheck {
  readonly ok: boolean;
  /** The finding and the remedy, for the operator; without the key. */
  readonly detail: string;
}

/** Address and key of an account; `account` names it for the lookup of the host. */
export interface CheckedKey {
  readonly account: string;
  readonly baseUrl: string;
  readonly partnerKey: string;
}

export interface KeyCheckDeps {
  readonly lookup: HostLookup;
  /** The ways through the forward proxy; null without one. */
  readonly agents?: ProxyAgents | null;
  readonly timeoutMs: number;
  readonly now: () => number;
  /** The budget of each host, which all accounts share; null for none. */
  readonly hostBudgets: HostBudgets | null;
}

/** Maximum milliseconds that a check takes, whatever the deadline of other requests is. */
const checkMsMax = 10_000;

/** Asks `GET partner/me` once. Never rejects: whatever goes wrong is the outcome. */
export async function checkKey(
  { lookup, agents = null, timeoutMs, now, hostBudgets }: KeyCheckDeps,
  { account, baseUrl, partnerKey }: CheckedKey,
): Promise<KeyCheck> {
  const deadlineMs = Math.min(timeoutMs, checkMsMax);
  const signal = AbortSignal.timeout(deadlineMs);
  let isInTurn = hostBudgets === null;
  const takeTurn = async () => {
    await hostBudgets?.turn({ account, baseUrl, urgency: 'person' }, signal);
    isInTurn = true;
  };
  const budget = createRequestBudget({ maxRps: 1, concurrency: 1 }, takeTurn);
  const client = createPartnerClient({
    account,
    baseUrl,
    partnerKey,
    lookup,
    agents,
    timeoutMs: deadlineMs,
    // Nothing is repeated.
    budget: { ...budget, pace: () => ({ ...budget.pace(), share: 0 }) },
    clock: { now },
    random: () => 0,
    onRequest: () => undefined,
  });
  try {
    await client.checkAccount(signal);
    return { ok: true, detail: 'The partner service takes the key.' };
  } catch (error) {
    return {
      ok: false,
      detail: detailOf(error, isInTurn),
    };
  }
}

const polls = 'The account is stored, and its polls go on trying.';

/** A failed check in words; pure. */
function detailOf(error: unknown, isInTurn: boolean): string {
  if (!(error instanceof PartnerError)) return 'The check failed; the polls go on.';
  if (!isInTurn)
    return `The check had no turn in time, since PARTNER_TOTAL_RPS bounds the requests to this host. ${polls}`;
  const { kind, status, message } = error;
  switch (kind) {
    case 'auth':
      return status === 403
        ? 'The partner service does not allow this key to read its account (403): check what the key may do.'
        : `The partner service refuses the key (${status ?? 401}): give the right partnerKey.`;
    case 'unexpected_status':
      return `${message}: check baseUrl. ${baseUrlHint}`;
    case 'invalid_response':
      return `${message}: baseUrl leads to something else than the partner service's API. ${baseUrlHint}`;
    case 'network':
      return `The partner service cannot be reached (${message}): check baseUrl and the network. ${polls}`;
    case 'proxy':
      return `${message} The operator sees to PARTNER_PROXY. ${polls}`;
    case 'timeout':
    case 'aborted':
      return `The partner service did not answer in time. ${polls}`;
    case 'rate_limited':
    case 'unavailable':
      return `${message}: the partner service is in trouble, so the key could not be checked. ${polls}`;
  }
}

const baseUrlHint = 'It ends in the version segment, such as https://partner.example.com/v1.';
