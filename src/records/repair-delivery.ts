import type { MendSubscription } from '../delivery/blocked/mend-subscription.ts';
import type { Keys } from '../redis/keys.ts';
import type { OnUnreadable } from '../redis/unreadable-record.ts';
import type { AccountRecords } from './account-records.ts';
import { subscriptionKeyKinds } from './key-kinds.ts';

export interface DeliveryRepairerDeps {
  readonly look: AccountRecords['look'];
  readonly mendSubscription: MendSubscription;
  readonly keys: Keys;
  readonly onUnreadable: OnUnreadable;
}

/**
 * Repairs the records that a drain needs: the keys of the account, then those of the subscription. Each
 * finding is reported. `since` is when the subscription began (ms). Returns the number of repaired records; 0
 * means that the operator has to act.
 */
export function createDeliveryRepairer({
  look,
  mendSubscription,
  keys,
  onUnreadable,
}: DeliveryRepairerDeps): (account: string, id: string, since: number) => Promise<number> {
  return async (account, id, since) => {
    const ofAccount = await look(account);
    const ofSubscription = await mendSubscription(account, id, since);
    const own = keys.account(account).subscription(id);
    for (const { name, field, remedy } of ofSubscription) {
      const { kind, type } = subscriptionKeyKinds[name];
      const reason = field === null ? `it is not a ${type} of ours` : 'it is garbage or was cut short';
      onUnreadable({ account, kind, key: own[name], field, reason, remedy });
    }
    return ofAccount + ofSubscription.length;
  };
}
