import { eventDefinition, resolve, subscribedDefinition } from './definitions.ts';
import { findOperation, jsonSchema, type ApiDocument, type ApiOperation } from './document.ts';
import { bodyOf, bodySchema, findParameter, parameter, problem } from './fields.ts';
import { definition, type Schema } from './schemas.ts';
import { account, type ShownTrigger } from './shown/shown.ts';
import { secretHeader } from './shown/triggers.ts';

/**
 * The path of a trigger: what is sent to subscribe, and what arrives later
 * (learn.microsoft.com/connectors/custom-connectors/create-webhook-trigger).
 */
export function triggerPath(document: ApiDocument, trigger: ShownTrigger, statuses: readonly string[]) {
  const { path, method, operation } = findOperation(document, 'createSubscription');
  const item: Record<string, unknown> = {
    'x-ms-notification-content': {
      description: 'An event of a filing.',
      schema: definition(eventDefinition),
    },
    [method]: {
      operationId: trigger.operationId,
      summary: trigger.summary,
      description: trigger.description,
      'x-ms-trigger': 'single',
      'x-ms-trigger-hint': trigger.hint,
      'x-ms-visibility': 'important',
      parameters: [
        parameter(findParameter(operation, 'account'), account),
        {
          name: 'body',
          in: 'body',
          required: true,
          schema: subscribeBody(document, operation, trigger, statuses),
        },
      ],
      responses: {
        '201': { description: 'Subscribed.', schema: definition(subscribedDefinition) },
        default: problem(),
      },
    },
  };
  return { path: trigger.path ?? path, method, item };
}

function subscribeBody(
  document: ApiDocument,
  operation: ApiOperation,
  trigger: ShownTrigger,
  statuses: readonly string[],
): Schema {
  const request = resolve(document, jsonSchema(operation.requestBody, operation.operationId));
  const shown = bodySchema(request, trigger.body);
  const properties = shown['properties'] as Record<string, Schema>;
  const { url, eventTypes, statuses: chosen, headers } = { ...properties, ...bodyOf(request, ['url']) };
  return {
    ...shown,
    required: ['url'],
    properties: {
      url: { ...url, 'x-ms-visibility': 'internal', 'x-ms-notification-url': true },
      ...properties,
      ...(eventTypes === undefined ? {} : { eventTypes: onlyFilings(eventTypes) }),
      ...(chosen === undefined ? {} : { statuses: { ...chosen, items: { type: 'string', enum: statuses } } }),
      ...(headers === undefined ? {} : { headers: secretAsHeader(headers) }),
    },
  };
}

// A flow about filings gets no events of accounts and subscriptions.
function onlyFilings(eventTypes: Schema): Schema {
  const items = eventTypes['items'] as Schema;
  const types = (items['enum'] as string[]).filter((type) => type.startsWith('filing.'));
  return { ...eventTypes, items: { ...items, enum: types } };
}

// Of the headers that a subscription may have, the form shows one.
function secretAsHeader(headers: Schema): Schema {
  const { description, 'x-ms-summary': summary, 'x-ms-visibility': visibility } = headers;
  return {
    type: 'object',
    description: 'Headers that every notification carries.',
    'x-ms-summary': 'Headers',
    'x-ms-visibility': visibility,
    properties: {
      [secretHeader]: {
        type: 'string',
        description,
        'x-ms-summary': summary,
        'x-ms-visibility': visibility,
      },
    },
  };
}
