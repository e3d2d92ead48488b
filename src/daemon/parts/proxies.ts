import type { Logger } from 'pino';
import type { Config } from '../../config/config.ts';
import type { Metrics } from '../../monitoring/metrics.ts';
import type { HostLookup } from '../../names/host-lookup.ts';
import { maskedProxy } from '../../proxy/proxy-address.ts';
import type { Outage } from '../../proxy/proxy-watch.ts';
import { createTunnels, type Tunnels } from '../../proxy/tunnels.ts';

export interface ProxiesDeps {
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly lookup: HostLookup;
  readonly random: () => number;
}

/**
 * Tunnels through `EGRESS_PROXY`, for all that this process sends to receivers; null without one. `onOutage`
 * is called when an outage begins, with each failed probe, and with null when it is over.
 */
export function createEgressTunnels(
  { proxies, delivery }: Pick<Config, 'proxies' | 'delivery'>,
  deps: ProxiesDeps,
  onOutage: (outage: Outage | null) => void,
): Tunnels | null {
  const { egress: proxy, egressResolves: resolves, noProxy } = proxies;
  if (proxy === null) return null;
  const { timeoutMs } = delivery;
  return createTunnels({ proxy, noProxy, resolves, timeoutMs, ...observed('egress', proxy, deps, onOutage) });
}

/** Tunnels through `PARTNER_PROXY`, for polls; null without one. The proxy resolves names. */
export function createPartnerTunnels(
  { proxies, polling }: Pick<Config, 'proxies' | 'polling'>,
  deps: ProxiesDeps,
): Tunnels | null {
  const { partner: proxy, noProxy } = proxies;
  if (proxy === null) return null;
  const { timeoutMs } = polling;
  const observer = observed('partner', proxy, deps, () => undefined);
  return createTunnels({ proxy, noProxy, resolves: true, timeoutMs, ...observer });
}

function observed(
  name: 'egress' | 'partner',
  address: Parameters<typeof maskedProxy>[0],
  { logger, metrics, lookup, random }: ProxiesDeps,
  onOutage: (outage: Outage | null) => void,
) {
  const shown = maskedProxy(address);
  let isDown = false;
  metrics.proxyUp.set({ proxy: name }, 1);
  logger.info({ proxy: name, address: shown }, 'proxy.used');
  return {
    lookup,
    random,
    onFailed: (reason: string) => metrics.proxyErrors.inc({ proxy: name, reason }),
    onOutage(outage: Outage | null) {
      metrics.proxyUp.set({ proxy: name }, outage === null ? 1 : 0);
      if (outage === null) logger.info({ proxy: name, address: shown }, 'proxy.back');
      else if (!isDown) logger.error({ proxy: name, address: shown, reason: outage.reason }, 'proxy.down');
      isDown = outage !== null;
      onOutage(outage);
    },
  };
}
