import type { ApiDeps } from '../../api/deps.ts';
import type { Config } from '../../config/config.ts';
import { checkKey } from '../../partner/check-key.ts';
import { createReplayer } from '../../delivery/replay/start-replay.ts';
import { checkCallbackUrl, resolveCallbackHost } from '../../egress/url-policy.ts';
import { checkMailUrl } from '../../egress/mail-address.ts';
import { createAskService } from '../../polling/ask-service.ts';
import { createReadDraft } from '../../polling/read-draft.ts';
import { createServiceSearch } from '../../polling/service-search.ts';
import type { Parts } from '../parts.ts';
import { keyedOrError } from '../upkeep/default-account.ts';
import type { Overrides } from './overrides.ts';

// Milliseconds that a look-up of a callback URL's host may take.
const resolveMs = 1_000;
// Maximum number of events that a replay counts one by one; a hundred thousand take about a second.
const replayCountMax = 500_000;

/** The dependencies of the API; its stores fail fast. */
export function createApiDeps(config: Config, parts: Parts, overrides: Overrides = {}): ApiDeps {
  const { promptStores: stores, watch, clock, pollQueue, waker } = parts;
  const policy = parts.egress;
  const checkUrl = (text: string) => checkCallbackUrl(text, { allowHttp: config.delivery.allowHttp, policy });
  const lookup = overrides.lookup ?? parts.lookup;
  const verifier = parts.verifierOver(stores);
  const askService = createAskService({ accounts: stores.accounts, partners: parts.partners });
  return {
    ...stores,
    ...createProbes(parts),
    version: parts.version,
    apiToken: config.apiToken,
    searchService: createServiceSearch(askService),
    readDraft: createReadDraft(askService),
    publicUrl: config.publicUrl,
    verificationRule: config.verification,
    frameAncestors: config.frameAncestors,
    accountLimits: { maxRps: config.polling.maxRps, attemptsBytesMax: config.attemptsBytesMax },
    maxInFlight: config.delivery.maxInFlight,
    now: clock.now,
    checkUrl,
    checkMail: (url) => checkMailUrl(url, config.mail),
    async checkHost(text, account) {
      const checked = checkUrl(text);
      if (!checked.ok) return checked;
      const deps = { policy, lookup, timeoutMs: resolveMs, owner: `checks ${account}` };
      return resolveCallbackHost(checked.url, deps);
    },
    waitsFor: parts.waitsFor,
    replayer: createReplayer({
      ...stores,
      known: stores.snapshot.known,
      wake: waker.wake,
      countMax: overrides.replayCountMax ?? replayCountMax,
      now: clock.now,
    }),
    trustedProxies: config.trustedProxies,
    async storeProblem() {
      await watch.check();
      return watch.problem();
    },
    hooks: {
      async accountSaved({ account, pollIntervalMs }) {
        await pollQueue.schedule(account, pollIntervalMs);
        await pollQueue.pollNow(account, 'delta');
      },
      async checkPartner(name) {
        const account = await keyedOrError(stores.accounts, name);
        if (account === null) return { ok: false, detail: 'The account was removed meanwhile.' };
        if (account instanceof Error) return { ok: false, detail: account.message };
        return checkKey(
          {
            lookup: parts.lookup,
            agents: parts.agents,
            timeoutMs: config.polling.timeoutMs,
            now: clock.now,
            hostBudgets: parts.hostBudgets,
          },
          account,
        );
      },
      accountRemoved: parts.accountRemoved,
      pollNow: pollQueue.pollNow,
      wake: waker.wake,
      ping: parts.ping,
      verify: verifier.now,
      endExpired: parts.endExpiredOver(stores),
    },
  };
}

/** Health and metrics of a process, for supervisors and Prometheus. */
export function createProbes({ logger, work, readiness, metrics, refreshGauges }: Parts) {
  return {
    logger,
    liveness: work.liveness,
    readiness,
    metrics: metrics.registry,
    beforeScrape: refreshGauges,
  };
}
