import { readFileSync } from 'node:fs';
import type { N8n } from './n8n.mts';

/** A workflow as n8n exports it. */
export interface WorkflowFile {
  name: string;
  nodes: {
    name: string;
    type: string;
    parameters: Record<string, unknown>;
    credentials?: Record<string, unknown>;
  }[];
  connections: Record<string, unknown>;
  settings: Record<string, unknown>;
}

/** Reads a workflow of the examples, its text changed where a test needs that. */
export function readExample(name: string, change: (text: string) => string = (text) => text): WorkflowFile {
  const text = readFileSync(new URL(`../../examples/${name}.json`, import.meta.url), 'utf8');
  return JSON.parse(change(text)) as WorkflowFile;
}

/** Creates credentials for a daemon in n8n, and gives their id. */
export async function addCredentials(
  n8n: N8n,
  { url, token, account }: { url: string; token: string; account: string },
): Promise<string> {
  const { id } = await n8n.rest<{ id: string }>('POST', '/credentials', {
    name: 'Filing Webhooks',
    type: 'filingWebhooksApi',
    data: { baseUrl: url, token, account },
  });
  return id;
}

/** Imports a workflow with these credentials, and gives its id. */
export async function importWorkflow(n8n: N8n, file: WorkflowFile, credentials: string): Promise<string> {
  const nodes = file.nodes.map((node) => ({
    ...node,
    ...(node.credentials && {
      credentials: { filingWebhooksApi: { id: credentials, name: 'Filing Webhooks' } },
    }),
  }));
  const { id } = await n8n.rest<{ id: string }>('POST', '/workflows', { ...file, nodes, active: false });
  return id;
}

/** Changes parameters of a workflow's first node, the trigger. What is published stays as it is until `publish`. */
export async function changeTrigger(
  n8n: N8n,
  id: string,
  parameters: Record<string, unknown>,
): Promise<void> {
  const { nodes, versionId } = await n8n.rest<WorkflowFile & { versionId: string }>(
    'GET',
    `/workflows/${id}`,
  );
  const [trigger, ...others] = nodes;
  if (trigger === undefined) throw new Error(`the workflow ${id} has no nodes`);
  const changed = { ...trigger, parameters: { ...trigger.parameters, ...parameters } };
  await n8n.rest('PATCH', `/workflows/${id}`, { nodes: [changed, ...others], versionId });
}

/** Publishes a workflow as it is now, which registers its webhooks. */
export async function publish(n8n: N8n, id: string): Promise<void> {
  const { versionId } = await n8n.rest<{ versionId: string }>('GET', `/workflows/${id}`);
  await n8n.rest('POST', `/workflows/${id}/activate`, { versionId });
}

/** Takes a workflow out of service. */
export async function unpublish(n8n: N8n, id: string): Promise<void> {
  await n8n.rest('POST', `/workflows/${id}/deactivate`, {});
}
