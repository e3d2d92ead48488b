import { apiTargets } from './api-targets.ts';
import { configTargets } from './config-targets.ts';
import { deliveryTargets } from './delivery-targets.ts';
import type { FuzzTarget } from './fuzz.ts';
import { partnerTargets } from './partner-targets.ts';

/** Everything that reads what strangers write. */
export const targets: readonly FuzzTarget[] = [
  ...partnerTargets,
  ...deliveryTargets,
  ...apiTargets,
  ...configTargets,
];
