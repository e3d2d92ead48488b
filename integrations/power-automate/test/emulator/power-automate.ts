import { listenForCallbacks, type Notification } from './callbacks.ts';
import { operationOf, type Connector, type DynamicValues, type Found, type Schema } from './definition.ts';
import { hidden, misfits } from './fits.ts';
import { keyOf, notificationField, requestFor, type ConnectionValues, type Inputs } from './requests.ts';

/** A flow that is switched on. */
export interface Flow {
  /** What its trigger has received and accepted, in order. */
  readonly runs: readonly Notification[];
  /** What the trigger refused, or what a maker could not have chosen. */
  readonly complaints: readonly string[];
  /** Where the subscription can be removed. */
  readonly location: string;
  /** Status of the answers to notifications from now on; 202 at first, which Logic Apps answers. */
  answer(status: number): void;
  /** Switches the flow off: a DELETE at its Location, with nothing but the key of the connection. */
  turnOff(): Promise<void>;
}

/** An item of a list to choose from. */
export interface Choice {
  readonly value: unknown;
  readonly title: unknown;
}

/** The service as a connector meets it. It reads the two files of the connector and knows nothing else of the daemon. */
export interface PowerAutomate extends AsyncDisposable {
  /** Calls an action, and checks its answer against the schema of the response. */
  run(operationId: string, inputs?: Inputs): Promise<unknown>;
  /** The choices that the form offers for a parameter. */
  choices(operationId: string, parameter: string, inputs?: Inputs): Promise<Choice[]>;
  /** Switches a flow with this trigger on. */
  turnOn(triggerId: string, inputs: Inputs): Promise<Flow>;
}

/** Starts the service with one connector and one connection. */
export async function startPowerAutomate(
  connector: Connector,
  connection: ConnectionValues,
): Promise<PowerAutomate> {
  const { definition } = connector;
  const callbacks = await listenForCallbacks();
  const key = keyOf(connector, connection);

  async function send(operationId: string, inputs: Inputs): Promise<Response> {
    const { url, method, headers, body } = requestFor(connector, connection, operationId, inputs);
    const response = await fetch(url, { method, headers, body, redirect: 'error' });
    if (response.ok) return response;
    throw new Error(`${operationId}: ${response.status} ${await response.text()}`);
  }

  // A 202 with a Location stands for an answer that is still to come
  // (learn.microsoft.com/azure/logic-apps/logic-apps-create-api-app, the asynchronous polling pattern).
  async function settled(response: Response): Promise<Response> {
    const location = response.headers.get('location');
    if (response.status !== 202 || location === null) return response;
    return settled(await fetch(absolute(location), { headers: key }));
  }

  // The body of an answer, which has to fit the schema of success.
  async function checked({ operation }: Found, response: Response): Promise<unknown> {
    const { operationId, responses } = operation;
    const [, success] = Object.entries(responses).find(([status]) => status.startsWith('2')) ?? [];
    const body: unknown = await response.json();
    if (success?.schema === undefined) throw new Error(`${operationId} describes no answer`);
    // What only fills lists of choices shows less.
    const shown = operation['x-ms-visibility'] === 'internal' ? [] : unseen(success.schema, body);
    const wrong = [
      ...misfits(definition, success.schema, body),
      ...shown.map((path) => `${path} is not shown`),
    ];
    if (wrong.length > 0) throw new Error(`${operationId} answered otherwise: ${wrong.join('; ')}`);
    return body;
  }

  const service: PowerAutomate = {
    async run(operationId, inputs = {}) {
      const found = operationOf(definition, operationId);
      return checked(found, await settled(await send(operationId, inputs)));
    },

    async choices(operationId, name, inputs = {}) {
      const { operation } = operationOf(definition, operationId);
      const dynamic = operation.parameters?.find((each) => each.name === name)?.['x-ms-dynamic-values'];
      if (dynamic === undefined) throw new Error(`${operationId} offers no choices for ${name}`);
      const list = at(
        await service.run(dynamic.operationId, asked(dynamic, inputs)),
        dynamic['value-collection'],
      );
      return (list as unknown[]).map((item) => ({
        value: at(item, dynamic['value-path']),
        title: at(item, dynamic['value-title']),
      }));
    },

    async turnOn(triggerId, inputs) {
      const found = operationOf(definition, triggerId);
      const content = found.item['x-ms-notification-content']?.schema;
      if (found.operation['x-ms-trigger'] !== 'single' || content === undefined) {
        throw new Error(`${triggerId} is no webhook trigger`);
      }
      const runs: Notification[] = [];
      const complaints: string[] = [];
      let status = 202;
      const url = callbacks.add((notification) => {
        if (status >= 300) return status;
        const wrong = complaintsAbout(content, notification.body);
        complaints.push(...wrong);
        if (wrong.length === 0) runs.push(notification);
        return status;
      });
      const body = { ...(inputs['body'] as object | undefined), [notificationField(found)]: url };
      const response = await send(triggerId, { ...inputs, body });
      if (response.status !== 201) throw new Error(`${triggerId} answered ${response.status}, not 201`);
      const location = absolute(response.headers.get('location') ?? '');
      return {
        runs,
        complaints,
        location,
        answer: (next) => void (status = next),
        async turnOff() {
          const removed = await fetch(location, { method: 'DELETE', headers: key });
          if (!removed.ok) throw new Error(`DELETE ${location}: ${removed.status} ${await removed.text()}`);
        },
      };
    },

    [Symbol.asyncDispose]: () => callbacks[Symbol.asyncDispose](),
  };
  return service;

  function complaintsAbout(content: Schema, body: unknown): string[] {
    return [
      ...misfits(definition, content, body),
      ...unseen(content, body).map((path) => `${path} is not shown`),
    ];
  }

  // The partner service decides which further fields a filing has.
  function unseen(schema: Schema, body: unknown): string[] {
    return hidden(definition, schema, body).filter((path) => !path.includes('/data/filing/'));
  }
}

function absolute(location: string): string {
  if (URL.canParse(location)) return location;
  throw new Error(`the Location ${JSON.stringify(location)} is not absolute; PUBLIC_URL makes it so`);
}

// The inputs of the operation that lists choices: fixed ones, and those of the form that it refers to.
function asked({ parameters }: DynamicValues, inputs: Inputs): Inputs {
  return Object.fromEntries(
    Object.entries(parameters).map(([name, value]) => {
      if (typeof value !== 'object' || value === null) return [name, value];
      return [name, inputs[(value as { parameter: string }).parameter]];
    }),
  );
}

function at(value: unknown, path: string): unknown {
  return path
    .split('/')
    .reduce<unknown>((inner, name) => (inner as Record<string, unknown> | null)?.[name], value);
}
