import { Type } from 'typebox';
import type { DeliveryState, Subscription } from '../subscription.ts';
import { isExpired } from './expires-at.ts';
import { given, type Option } from './option.ts';

type AutoEnabled = Pick<Subscription, 'autoEnable'>;

const settings = {
  autoEnable: Type.Boolean({
    default: true,
    description:
      'Whether the daemon asks the endpoint once an hour after it has disabled the subscription for failing, with the next event that waits or a `ping`, and enables it at the first 2xx.',
  }),
};

/**
 * Whether a subscription is disabled for failing and its endpoint is asked again; pure. When that is due is
 * the end of its pause.
 */
export function isAskedAgain(
  { enabled, disabledAt }: Pick<DeliveryState, 'enabled' | 'disabledAt'>,
  { autoEnable: asks = true, ...subscription }: AutoEnabled & Pick<Subscription, 'expiresAt'>,
  now: number,
): boolean {
  return !enabled && disabledAt > 0 && asks && !isExpired(subscription, now);
}

/** The option `autoEnable`. */
export const autoEnable = {
  input: Type.Partial(Type.Object(settings)).properties,
  shown: settings,
  stored: (body: AutoEnabled) => given(body, 'autoEnable'),
  show: ({ autoEnable: asks = true }: AutoEnabled) => ({ autoEnable: asks }),
} satisfies Option;
