import type { IncomingMessage, ServerResponse } from 'node:http';
import type {
  IDataObject,
  IExecuteFunctions,
  IHookFunctions,
  IHttpRequestOptions,
  ILoadOptionsFunctions,
  IWebhookFunctions,
} from 'n8n-workflow';

/** What a node is run with in a test: its parameters, the daemon's address and what n8n keeps for it. */
export interface Run {
  readonly parameters: Record<string, unknown>;
  readonly credentials: { baseUrl: string; token: string; account: string };
  readonly staticData?: IDataObject;
  readonly webhookUrl?: string;
  readonly activation?: 'activate' | 'init';
  readonly mode?: 'trigger' | 'manual';
  readonly workflowId?: string;
  readonly items?: number;
  readonly continueOnFail?: boolean;
  readonly request?: IncomingMessage & { rawBody: Buffer };
  readonly response?: ServerResponse;
}

/** The functions that n8n gives a node, as far as these nodes use them. Requests go to the daemon over HTTP. */
export type N8nFunctions = IHookFunctions & IWebhookFunctions & IExecuteFunctions & ILoadOptionsFunctions;

/** Makes the functions for a run, with the credentials applied as the credentials say. */
export function functionsFor(run: Run): N8nFunctions & { readonly warnings: string[] } {
  const warnings: string[] = [];
  const functions = {
    warnings,
    logger: { warn: (message: string) => void warnings.push(message) },
    getActivationMode: () => run.activation ?? 'activate',
    getMode: () => run.mode ?? 'trigger',
    getNode: () => ({
      id: 'node-1',
      name: 'Filing Webhooks Trigger',
      type: 'filingWebhooksTrigger',
      typeVersion: 1,
    }),
    getWorkflow: () => ({ id: run.workflowId ?? 'workflow-1', name: 'Rejections', active: true }),
    getWorkflowStaticData: () => run.staticData ?? {},
    getNodeWebhookUrl: () => run.webhookUrl,
    getNodeParameter: (name: string, itemOrFallback?: unknown, fallback?: unknown) =>
      name in run.parameters
        ? run.parameters[name]
        : typeof itemOrFallback === 'number'
          ? fallback
          : itemOrFallback,
    getCredentials: async () => run.credentials,
    getInputData: () => Array.from({ length: run.items ?? 1 }, () => ({ json: {} })),
    continueOnFail: () => run.continueOnFail ?? false,
    getRequestObject: () => run.request,
    getResponseObject: () => run.response,
    getBodyData: () => JSON.parse(run.request?.rawBody.toString() ?? '{}') as IDataObject,
    helpers: {
      returnJsonArray: (items: IDataObject[]) => items.map((json) => ({ json })),
      httpRequestWithAuthentication: async (name: string, options: IHttpRequestOptions) => {
        if (name !== 'filingWebhooksApi') throw new Error(`no credentials ${name}`);
        const query = new URLSearchParams(options.qs as Record<string, string>).toString();
        const answer = await fetch(options.url + (query === '' ? '' : `?${query}`), {
          method: options.method ?? 'GET',
          headers: {
            authorization: `Bearer ${run.credentials.token}`,
            ...(options.body && { 'content-type': 'application/json' }),
          },
          ...(options.body && { body: JSON.stringify(options.body) }),
        });
        const text = await answer.text();
        return { statusCode: answer.status, body: text === '' ? '' : (JSON.parse(text) as IDataObject) };
      },
    },
  };
  return functions as unknown as N8nFunctions & { readonly warnings: string[] };
}
