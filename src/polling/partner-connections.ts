import type { KeyedAccount } from '../accounts/account.ts';
import type { HostLookup } from '../names/host-lookup.ts';
import { createAnswerRooms } from '../partner/answer-room.ts';
import { createPartnerClient, type Endpoint, type PartnerClient } from '../partner/partner-client.ts';
import {
  createRequestBudget,
  type RequestBudget,
  type RequestLimits,
  type Turn,
} from '../partner/request-budget.ts';
import type { HostBudgets } from '../partner/host-budgets.ts';
import type { ProxyAgents } from '../proxy/proxy-agents.ts';
import type { Clock } from '../redis/clock.ts';
import type { CountDifferences } from './beliefs/count-differences.ts';
import { createBodyAllowance, type BodyAllowance } from '../filings/body-allowance.ts';

/** The client of one account in this process, the same as long as address and key stay the same. */
export interface PartnerConnection {
  readonly incarnation: string;
  readonly baseUrl: string;
  readonly partnerKey: string;
  readonly client: PartnerClient;
  readonly budget: RequestBudget;
  readonly differences: CountDifferences;
  readonly bodies: BodyAllowance;
}

/** The clients of all accounts in this process: what asks the service of one account shares its budget. */
export type PartnerConnections = ReturnType<typeof createPartnerConnections>;

export interface PartnerConnectionsDeps {
  readonly clock: Clock;
  readonly random: () => number;
  readonly partner: RequestLimits & { readonly timeoutMs: number };
  /** Finds the addresses of a partner service's host. */
  readonly lookup: HostLookup;
  /** The agents of the forward proxy, or null if there is none. */
  readonly agents?: ProxyAgents | null;
  /** The budget of each host, which all accounts share; null for none. */
  readonly hostBudgets: HostBudgets | null;
  readonly onRequest: (endpoint: Endpoint, code: string) => void;
}

/** Clients that are made when they are first asked for. */
export function createPartnerConnections(deps: PartnerConnectionsDeps) {
  const connections = new Map<string, PartnerConnection>();
  const rooms = createAnswerRooms();

  function connect({ account, incarnation, baseUrl, partnerKey }: KeyedAccount): PartnerConnection {
    const { hostBudgets } = deps;
    const turn: Turn | null =
      hostBudgets && ((urgency, signal) => hostBudgets.turn({ account, baseUrl, urgency }, signal));
    const budget = createRequestBudget(deps.partner, turn);
    const client = createPartnerClient({
      account,
      baseUrl,
      partnerKey,
      lookup: deps.lookup,
      agents: deps.agents ?? null,
      rooms,
      timeoutMs: deps.partner.timeoutMs,
      budget,
      clock: deps.clock,
      random: deps.random,
      onRequest: deps.onRequest,
    });
    const memory = { differences: new Map(), bodies: createBodyAllowance() };
    return { incarnation, baseUrl, partnerKey, client, budget, ...memory };
  }

  return {
    /** The client of an account, a new one if its address or key has changed. */
    of(account: KeyedAccount): PartnerConnection {
      const known = connections.get(account.account);
      if (
        known?.incarnation === account.incarnation &&
        known.baseUrl === account.baseUrl &&
        known.partnerKey === account.partnerKey
      )
        return known;
      const connection = connect(account);
      connections.set(account.account, connection);
      return connection;
    },
    /** Lets go of the client of an account that is gone. */
    forget: (account: string) => void connections.delete(account),
  };
}
