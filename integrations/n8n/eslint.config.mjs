// The rules by which n8n judges community packages: those of `n8n-node lint` and of `@n8n/scan-community-package`.
import { n8nCommunityNodesPlugin } from '@n8n/eslint-plugin-community-nodes';
import * as parser from '@typescript-eslint/parser';
import { defineConfig } from 'eslint/config';
import nodesBase from 'eslint-plugin-n8n-nodes-base';

export default defineConfig(
  n8nCommunityNodesPlugin.configs.recommended,
  { rules: { 'no-console': 'error' } },
  { files: ['**/*.ts', '**/*.json'], languageOptions: { parser } },
  { plugins: { 'n8n-nodes-base': nodesBase } },
  { files: ['package.json'], rules: nodesBase.configs.community.rules },
  {
    files: ['credentials/**/*.ts'],
    rules: {
      ...nodesBase.configs.credentials.rules,
      // The scan of n8n leaves these two out for community packages.
      'n8n-nodes-base/cred-class-field-documentation-url-miscased': 'off',
      'n8n-nodes-base/cred-class-field-type-options-password-missing': 'off',
    },
  },
  {
    files: ['nodes/**/*.ts'],
    rules: {
      ...nodesBase.configs.nodes.rules,
      // And these three.
      'n8n-nodes-base/node-class-description-inputs-wrong-regular-node': 'off',
      'n8n-nodes-base/node-class-description-outputs-wrong': 'off',
      'n8n-nodes-base/node-param-type-options-max-value-present': 'off',
    },
  },
);
