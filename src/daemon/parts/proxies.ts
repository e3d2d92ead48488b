import type { Logger } from 'pino';
import type { Metrics } from '../../monitoring/metrics.ts';
import type { HostLookup } from '../../names/host-lookup.ts';
import { maskedProxy, type ProxyAddress } from '../../proxy/proxy-address.ts';
import type { Outage } from '../../proxy/proxy-watch.ts';
import { createTunnels, type Tunnels, type TunnelsDeps } from '../../proxy/tunnels.ts';

export interface ProxiesDeps {
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly lookup: HostLookup;
  readonly random: () => number;
}

/**
 * Tunnels through a forward proxy: `EGRESS_PROXY` for all that this process sends to receivers, or
 * `PARTNER_PROXY` for polls. Null if there is none. `onOutage` is called when an outage begins, with each
 * failed probe, and with null when it is over.
 */
export function createProxyTunnels(
  name: 'egress' | 'partner',
  proxy: ProxyAddress | null,
  settings: Pick<TunnelsDeps, 'noProxy' | 'resolves' | 'timeoutMs' | 'onOutage'>,
  { logger, metrics, lookup, random }: ProxiesDeps,
): Tunnels | null {
  if (proxy === null) return null;
  const line = { proxy: name, address: maskedProxy(proxy) };
  let isDown = false;
  metrics.proxyUp.set({ proxy: name }, 1);
  logger.info(line, 'proxy.used');
  return createTunnels({
    ...settings,
    proxy,
    lookup,
    random,
    onFailed: (reason) => metrics.proxyErrors.inc({ proxy: name, reason }),
    onOutage(outage: Outage | null) {
      metrics.proxyUp.set({ proxy: name }, outage === null ? 1 : 0);
      if (outage === null) logger.info(line, 'proxy.back');
      else if (!isDown) logger.error({ ...line, reason: outage.reason }, 'proxy.down');
      isDown = outage !== null;
      settings.onOutage?.(outage);
    },
  });
}
