import type { MatrixClient } from '../client.ts'

const INTERPRETER = 'code-interpreter-v1'

export const langchain: MatrixClient = {
  name: 'langchain-e2b',
  registry: 'pypi',
  package: 'langchain-e2b',
  older: ['0.0.5', '0.0.4'],
  flows: [{ name: 'Deep Agents backend: execute, files, search', file: 'langchain_flow.py', timeoutMs: 120_000 }],
}

export const openaiAgents: MatrixClient = {
  name: 'openai-agents',
  registry: 'pypi',
  package: 'openai-agents',
  older: ['0.23.1', '0.22.3'],
  beside: ['openai-agents[e2b]'],
  flows: [{ name: 'E2BSandboxClient: session, commands, files, pause and resume', file: 'openai_agents.py', timeoutMs: 180_000 }],
}

export const crewai: MatrixClient = {
  name: 'crewai-tools',
  registry: 'pypi',
  package: 'crewai-tools',
  older: ['1.15.29', '1.15.28'],
  beside: ['crewai-tools[e2b]'],
  flows: [{ name: 'exec tool and file tool', file: 'crewai_tools_flow.py', timeoutMs: 180_000 }],
}

export const agno: MatrixClient = {
  name: 'agno',
  registry: 'pypi',
  package: 'agno',
  older: ['3.0.11', '3.0.10'],
  beside: ['e2b-code-interpreter'],
  flows: [
    { name: 'E2BTools on base: commands, files, status', file: 'agno_tools.py', timeoutMs: 120_000 },
    { name: 'E2BTools: Python code', file: 'agno_tools.py', args: ['code'], template: INTERPRETER, timeoutMs: 120_000 },
  ],
}

export const smolagents: MatrixClient = {
  name: 'smolagents',
  registry: 'pypi',
  package: 'smolagents',
  older: ['1.25.0', '1.24.0'],
  beside: ['smolagents[e2b]'],
  flows: [{ name: 'E2BExecutor: code, state, final answer', file: 'smolagents_executor.py', template: INTERPRETER, timeoutMs: 180_000 }],
}
