import type { Trigger } from 'zapier-platform-core';
import { statuses, typesUnder } from '../catalogue.ts';
import { hookOperation } from '../hook/hook-operation.ts';
import { given, readList } from '../input.ts';
import { filterField, payloadField, readSelection, statesField } from './selection-fields.ts';

const label = 'Filing Changed';
const choices = typesUnder('filing.');

/** Starts a Zap for the changes of filings that the user chooses. */
export const filingChanged: Trigger = {
  key: 'filing_changed',
  noun: 'Filing',
  display: {
    label,
    description: 'Triggers when a filing is created, changes its status, is removed, or stays too long.',
  },
  operation: {
    ...hookOperation({
      label,
      offered: choices.map(({ value }) => value),
      typical: 'filing.completed',
      select: (input) => ({
        eventTypes: readList(input, 'eventTypes') ?? ['filing.*'],
        ...given({ statuses: readList(input, 'statuses') }),
        ...readSelection(input),
      }),
    }),
    inputFields: [
      {
        key: 'eventTypes',
        label: 'Changes',
        type: 'string',
        list: true,
        required: false,
        choices,
        helpText: 'Only these changes; empty for all, those of later versions included.',
      },
      {
        key: 'statuses',
        label: 'Statuses',
        type: 'string',
        list: true,
        required: false,
        choices: [...statuses],
        helpText: 'Only changes after which the filing has one of these statuses; empty for all.',
      },
      statesField,
      filterField,
      payloadField,
    ],
  },
};
