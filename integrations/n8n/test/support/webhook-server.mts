import { once } from 'node:events';
import { createRequire } from 'node:module';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import type { IDataObject } from 'n8n-workflow';
import type { FilingWebhooksTrigger } from '../../dist/nodes/FilingWebhooks/FilingWebhooksTrigger.node.js';
import { functionsFor, type Run } from './n8n-functions.mts';

/** The side of n8n that takes callbacks: an HTTP server that gives each to the trigger and collects what starts an execution. */
export interface WebhookServer extends AsyncDisposable {
  readonly url: string;
  /** Items of the executions that were started. */
  readonly executions: IDataObject[];
  /** Statuses that were answered. */
  readonly answers: number[];
  /** What n8n answers for an execution: 200 unless set. */
  executionStatus: number;
  /** From here on, runs as another process of n8n with the same database. */
  restart(): void;
}

/** Starts it; `run` is what the trigger has in n8n. */
export async function startWebhookServer(run: Omit<Run, 'request' | 'response'>): Promise<WebhookServer> {
  const executions: IDataObject[] = [];
  const answers: number[] = [];
  let trigger = loadTrigger();
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    response.once('close', () => answers.push(response.statusCode));
    const rawBody = await buffer(request);
    const express = Object.assign(response, {
      status(code: number) {
        response.statusCode = code;
        return express;
      },
      json: (body: unknown) => void response.end(JSON.stringify(body)),
    });
    const result = await trigger.webhook.call(
      functionsFor({
        ...run,
        request: Object.assign(request, { rawBody }),
        response: express,
      }),
    );
    for (const { json } of result.workflowData?.flat() ?? []) executions.push(json);
    if (result.noWebhookResponse !== true)
      express.status(server.executionStatus).json({ message: 'Workflow was started' });
  };
  const http = createServer((request, response) => void answer(request, response));
  http.listen(0, '127.0.0.1');
  await once(http, 'listening');
  const server: WebhookServer = {
    url: `http://127.0.0.1:${(http.address() as AddressInfo).port}/webhook/1/filing-webhooks`,
    executions,
    answers,
    executionStatus: 200,
    restart: () => void (trigger = loadTrigger()),
    async [Symbol.asyncDispose]() {
      http.closeAllConnections();
      http.close();
      await once(http, 'close');
    },
  };
  return server;
}

const load = createRequire(import.meta.url);
const dist = fileURLToPath(new URL('../../dist/', import.meta.url));

/** The trigger as a new process has it: its modules remember nothing. */
function loadTrigger(): FilingWebhooksTrigger {
  for (const path of Object.keys(load.cache)) if (path.startsWith(dist)) delete load.cache[path];
  const path = `${dist}nodes/FilingWebhooks/FilingWebhooksTrigger.node.js`;
  const { FilingWebhooksTrigger: Trigger } = load(path) as {
    FilingWebhooksTrigger: new () => FilingWebhooksTrigger;
  };
  return new Trigger();
}
