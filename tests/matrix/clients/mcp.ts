import type { Flow, MatrixClient } from '../client.ts'

const shared: Omit<Flow, 'file'> = { name: 'MCP servers, also after a pause', template: 'mcp-gateway', timeoutMs: 300_000 }

export const mcpJavaScript: MatrixClient = {
  name: 'e2b and an MCP client (JavaScript)',
  registry: 'npm',
  package: 'e2b',
  older: ['2.45.0'],
  beside: ['@modelcontextprotocol/sdk@1.32.2'],
  flows: [{ ...shared, file: 'mcp-servers.mjs' }],
}

export const mcpPython: MatrixClient = {
  name: 'e2b and an MCP client (Python)',
  registry: 'pypi',
  package: 'e2b',
  older: ['2.45.1'],
  beside: ['mcp==1.30.0'],
  flows: [{ ...shared, file: 'mcp_servers.py' }],
}
