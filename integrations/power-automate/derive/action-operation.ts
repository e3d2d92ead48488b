import { resolve } from './definitions.ts';
import { jsonSchema, type ApiDocument, type ApiOperation } from './document.ts';
import { bodySchema, findParameter, parameter, problem } from './fields.ts';
import { definition, plain, references, toSwagger, type Schema } from './schemas.ts';
import type { ShownField, ShownOperation } from './shown/shown.ts';

type Json = Readonly<Record<string, unknown>>;

/** An action as the connector describes it. */
export function actionOperation(
  document: ApiDocument,
  operation: ApiOperation,
  action: ShownOperation,
): Json {
  const { operationId, summary, description, visibility, body } = action;
  const shown = Object.entries(action.parameters);
  const missing = (operation.parameters ?? []).filter(
    ({ name, required }) => required === true && !(name in action.parameters),
  );
  if (missing.length > 0) throw new Error(`${operationId} does not show ${missing.map(({ name }) => name)}`);
  const answer = operation.responses[action.success];
  return {
    operationId,
    summary,
    description,
    ...(visibility === undefined ? {} : { 'x-ms-visibility': visibility }),
    parameters: [
      ...shown.map(([name, field]) => parameter(findParameter(operation, name), field)),
      ...(body === undefined ? [] : [bodyParameter(document, operation, body)]),
    ],
    responses: {
      [action.success]: {
        description: action.result ?? plain(answer?.description ?? 'Done.'),
        ...(action.success === '204'
          ? {}
          : { schema: action.answer ? definition(action.answer) : toRef(jsonSchema(answer, operationId)) }),
      },
      default: problem(),
    },
  };
}

function bodyParameter(
  document: ApiDocument,
  operation: ApiOperation,
  shown: Readonly<Record<string, ShownField>>,
): Json {
  const schema = resolve(document, jsonSchema(operation.requestBody, operation.operationId));
  return {
    name: 'body',
    in: 'body',
    required: operation.requestBody?.required === true,
    schema: bodySchema(schema, shown),
  };
}

function toRef(schema: Schema): Schema {
  return '$ref' in schema ? definition(references(schema)[0] ?? '') : toSwagger(schema, 'output', {});
}
