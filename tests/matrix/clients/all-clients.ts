import type { MatrixClient } from '../client.ts'
import { cli } from './cli.ts'
import { codeInterpreterJavaScript, codeInterpreterPython } from './code-interpreter.ts'
import { computesdk } from './computesdk.ts'
import { desktopJavaScript, desktopPython } from './desktop.ts'
import { e2bJavaScript, e2bPython } from './e2b.ts'
import { mastra } from './mastra.ts'
import { mcpJavaScript, mcpPython } from './mcp.ts'
import { agno, crewai, langchain, openaiAgents, smolagents } from './python-frameworks.ts'
import { sandboxAgent } from './sandbox-agent.ts'

/** In the order of the page. */
export const ALL_CLIENTS: readonly MatrixClient[] = [
  e2bJavaScript,
  e2bPython,
  cli,
  mcpJavaScript,
  mcpPython,
  codeInterpreterJavaScript,
  codeInterpreterPython,
  desktopJavaScript,
  desktopPython,
  computesdk,
  mastra,
  sandboxAgent,
  langchain,
  openaiAgents,
  crewai,
  agno,
  smolagents,
]
