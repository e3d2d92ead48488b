import type { HostLookup } from '../names/host-lookup.ts';
import type { ProxyAgents } from '../proxy/proxy-agents.ts';
import { createPartnerClient } from './partner-client.ts';
import { PartnerError, type PartnerErrorKind } from './partner-error.ts';
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
  /** The agents of the forward proxy, or null if there is none. */
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

const baseUrlHint =
  'check the address of the partner service (baseUrl). It ends in the version segment, such as https://partner.example.com/v1.';
const inTrouble = 'the key could not be checked. The account is stored, and its polls go on trying.';

/** The remedy of each failure. */
const hints: Readonly<Record<PartnerErrorKind, string>> = {
  auth: 'give the right key (partnerKey), and check what it may do.',
  unexpected_status: baseUrlHint,
  invalid_response: baseUrlHint,
  network: `it cannot be reached, so ${inTrouble}`,
  proxy: `see PARTNER_PROXY; ${inTrouble}`,
  timeout: inTrouble,
  aborted: `it did not answer in time, so ${inTrouble}`,
  rate_limited: inTrouble,
  unavailable: inTrouble,
};

/** A failed check in words; pure. */
function detailOf(error: unknown, isInTurn: boolean): string {
  if (!isInTurn) return `PARTNER_TOTAL_RPS gave the check no turn in time: ${inTrouble}`;
  return error instanceof PartnerError ? `${error.message}: ${hints[error.kind]}` : inTrouble;
}
