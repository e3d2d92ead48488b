import type { Trigger } from 'zapier-platform-core';
import { isAboutSubscriptions, typesUnder } from '../catalogue.ts';
import { hookOperation } from '../hook/hook-operation.ts';
import { readList } from '../input.ts';

const label = 'Account Needs Attention';
const choices = typesUnder('account.', 'subscription.');
const offered = choices.map(({ value }) => value);
const ofAccount = offered.filter((type) => !isAboutSubscriptions(type));

/** Starts a Zap when filings cannot be watched, or changes cannot be delivered. */
export const accountNeedsAttention: Trigger = {
  key: 'account_needs_attention',
  noun: 'Notice',
  display: {
    label,
    description:
      'Triggers when the partner service refuses the key or polls fail, and when they work again; if chosen, when an endpoint is in trouble.',
  },
  operation: {
    ...hookOperation({
      label,
      offered,
      typical: 'account.auth_failed',
      select: (input) => ({ eventTypes: readList(input, 'eventTypes') ?? ofAccount }),
    }),
    inputFields: [
      {
        key: 'eventTypes',
        label: 'Notices',
        type: 'string',
        list: true,
        required: false,
        choices,
        helpText:
          'Empty for those about polling. Those about certificates and endpoints of subscriptions need a connection whose token was made without `"subscriptions": "own"`.',
      },
    ],
  },
};
