import type { FastifyRequest } from 'fastify';
import type { AccountToken } from '../../accounts/token-store.ts';
import type { Api } from '../server/api-instance.ts';
import type { ApiDeps, ApiLimits } from '../deps.ts';
import { createBudgets } from './budget.ts';
import { createRequestCost, prices, refuseFor, type RequestCost } from './cost.ts';
import { addressKey, createRateLimiter } from './rate-limit.ts';
import { createBoundedMap } from '../../memory/bounded-map.ts';

/** The default limits, listed in docs/configuration.md. A client with a valid token stays far below. */
export const defaultLimits: ApiLimits = {
  failures: { burst: 300, perSecond: 20 },
  open: { burst: 2_000, perSecond: 200 },
  token: { burst: 2_000, perSecond: 200 },
  account: { burst: 3_000, perSecond: 300 },
  polls: { burst: 4, perSecond: 1 / 15 },
  scans: { perAccount: 2, inAll: 8, waiting: 16, waitMs: 10_000 },
  exports: { perAccount: 2, inAll: 64, waiting: 16, waitMs: 10_000 },
  bundles: { perAccount: 2, inAll: 8, waiting: 16, waitMs: 10_000 },
  calls: { perAccount: 10, inAll: 100, waiting: 0, waitMs: 0 },
  streams: { perToken: 100, perAccount: 200 },
  connections: 20_000,
};

/** Limits on the rate of requests. Every refusal is the problem `too_many_requests`. */
export interface AccessLimits {
  /**
   * To be called before a token is checked; throws if its address has failed too often. A token that was
   * valid before passes, so strangers behind the same proxy cannot lock out its holder.
   */
  beforeToken(request: FastifyRequest, digest: string | null): void;
  /** The token is valid. */
  tokenWorked(digest: string): void;
  /** The token is missing or not valid. */
  tokenFailed(request: FastifyRequest, digest: string | null): void;
  /**
   * Admits a request with an account's token for one point, and returns its cost. Throws if the token or its
   * account has spent its points. The operator's token has no limit.
   */
  useOf(token: Pick<AccountToken, 'id' | 'account'>): RequestCost;
}

const workedMax = 10_000;

/** Limits on requests to guarded routes, counted in this process. */
export function createAccessLimits({ limits }: Pick<ApiDeps, 'limits'>): AccessLimits {
  const { failures, token, account } = { ...defaultLimits, ...limits };
  const failed = createRateLimiter(failures, () => performance.now());
  const ofTokens = createBudgets(token, () => performance.now());
  const ofAccounts = createBudgets(account, () => performance.now());
  const worked = createBoundedMap<string, true>(workedMax);

  return {
    beforeToken({ ip }, digest) {
      if (digest !== null && worked.get(digest) === true) return;
      refuseFor(
        failed.waitMs(addressKey(ip)),
        'Too many requests without a valid token came from your address.',
      );
    },
    tokenWorked(digest) {
      worked.set(digest, true);
    },
    tokenFailed({ ip }, digest) {
      if (digest !== null) worked.delete(digest);
      failed.count(addressKey(ip));
    },
    useOf(used) {
      refuseFor(ofTokens.waitMs(used.id), 'This token is used too often, or for too much at once.');
      refuseFor(
        ofAccounts.waitMs(used.account),
        'The tokens of this account are used too often, or for too much at once.',
      );
      const charge = (points: number) => {
        ofTokens.charge(used.id, points);
        ofAccounts.charge(used.account, points);
      };
      charge(1);
      return createRequestCost(charge, () =>
        Math.max(ofTokens.waitMs(used.id), ofAccounts.waitMs(used.account)),
      );
    },
  };
}

/**
 * Limits the requests of an address to routes that need no token, including unknown paths, by the bytes of
 * their answers (`prices.bytes`); health probes have no limit. The answer that spends the last point is sent.
 */
export function limitOpenRoutes(app: Api, { limits }: Pick<ApiDeps, 'limits'>): void {
  const ofAddresses = createBudgets({ ...defaultLimits, ...limits }.open, () => performance.now());
  app.addHook('onRequest', async (request) => {
    if (!isOpen(request)) return;
    const address = addressKey(request.ip);
    refuseFor(ofAddresses.waitMs(address), 'Too many requests came from your address.');
    ofAddresses.charge(address, 1);
  });
  app.addHook('onSend', async (request, _reply, payload) => {
    const bytes = typeof payload === 'string' || Buffer.isBuffer(payload) ? Buffer.byteLength(payload) : 0;
    const points = bytes / prices.bytes - 1;
    if (points > 0 && isOpen(request)) ofAddresses.charge(addressKey(request.ip), points);
    return payload;
  });
}

function isOpen({ routeOptions: { url = '' } }: FastifyRequest): boolean {
  return !url.startsWith('/v1/') && !url.startsWith('/health/');
}
