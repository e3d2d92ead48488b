import type { PlainInputField } from 'zapier-platform-core';
import { given, readList, readText, type Input } from '../input.ts';

/** States of the filings that a Zap is about. */
export const statesField = {
  key: 'states',
  label: 'States',
  type: 'string',
  list: true,
  required: false,
  placeholder: 'TX',
  helpText:
    'Only filings of these states, by abbreviation; empty for all. Changes of filings whose state is not known come all the same.',
} as const satisfies PlainInputField;

/** An expression on the content of an event. */
export const filterField = {
  key: 'filter',
  label: 'Filter expression',
  type: 'text',
  required: false,
  placeholder: 'filing.premium > 10000',
  helpText:
    'Only events for which this is true, such as `filing.premium > 10000 && filing.filingType == "NEW_BUSINESS"`. An event on which it cannot decide comes all the same.',
} as const satisfies PlainInputField;

/** Whether the whole filing comes along. */
export const payloadField = {
  key: 'payload',
  label: 'Content',
  type: 'string',
  required: false,
  default: 'full',
  choices: { full: 'With the whole filing', thin: 'Without the filing: id, status and reason only' },
  helpText: 'What is sent to Zapier.',
} as const satisfies PlainInputField;

/** What these fields say, in the words of the API. */
export function readSelection(input: Input): {
  states?: string[];
  filter?: string;
  payload?: 'full' | 'thin';
} {
  const payload = readText(input, 'payload');
  return given({
    states: readList(input, 'states'),
    filter: readText(input, 'filter'),
    payload: payload === 'thin' || payload === 'full' ? payload : undefined,
  });
}
