import type { Trigger } from 'zapier-platform-core';
import { hookOperation } from '../hook/hook-operation.ts';
import { filterField, payloadField, readSelection, statesField } from './selection-fields.ts';

const label = 'Filing Rejected';

// A filing that is REJECTED when it is first seen, or seen again, causes no filing.rejected.
const eventTypes = ['filing.rejected', 'filing.created', 'filing.restored'];

/** Starts a Zap when a filing is rejected, and when the reason of a rejection changes. */
export const filingRejected: Trigger = {
  key: 'filing_rejected',
  noun: 'Rejection',
  display: {
    label,
    description: 'Triggers when a filing is rejected, or when the reason of a rejection changes.',
  },
  operation: {
    ...hookOperation({
      label,
      offered: eventTypes,
      typical: 'filing.rejected',
      select: (input) => ({ eventTypes, statuses: ['REJECTED'], ...readSelection(input) }),
    }),
    inputFields: [statesField, filterField, payloadField],
  },
};
