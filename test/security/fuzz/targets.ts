import { apiTargets } from './api-targets.ts';
import { configTargets } from './config-targets.ts';
import { deliveryTargets } from './delivery-targets.ts';
import { filterTargets } from './filter-targets.ts';
import type { FuzzTarget } from './fuzz.ts';
import { partnerTargets } from './partner-targets.ts';
import { tlsTargets } from './tls-targets.ts';

/** Everything that reads what strangers write. */
export const targets: readonly FuzzTarget[] = [
  ...partnerTargets,
  ...deliveryTargets,
  ...filterTargets,
  ...apiTargets,
  ...configTargets,
  ...tlsTargets,
];
