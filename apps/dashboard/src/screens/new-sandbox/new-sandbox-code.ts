import type { NewSandboxV2 } from '@sandyard/api-contract/sandboxes/new-sandbox'
import type { ServerInfo } from '@sandyard/dashboard-contract/session'
import type { ActionCode } from '../../parts/action-code.ts'
import { curlText } from '../sandbox/sandbox-code.ts'

/** The forms of a create request in code: made from the request itself. */
export function newSandboxCode(body: NewSandboxV2, server: Pick<ServerInfo, 'apiUrl'> | undefined): ActionCode {
  return { javascript: javascriptCode(body), python: pythonCode(body), curl: curlText(server, 'POST', '/v2/sandboxes', body) }
}

type Fields = readonly (readonly [name: string, value: unknown])[]

function javascriptCode(body: NewSandboxV2): string {
  const { network = {} } = body
  const lifecycle = {
    ...(body.autoPause === true && { onTimeout: body.autoPauseMemory === false ? { action: 'pause', keepMemory: false } : 'pause' }),
    ...(body.autoResume?.enabled === true && { autoResume: true }),
  }
  const fields: Fields = [
    ['timeoutMs', (body.timeout ?? 300) * 1000],
    ['lifecycle', body.autoPause === true ? lifecycle : undefined],
    ['secure', body.secure],
    ['metadata', body.metadata],
    ['envs', body.envVars],
    ['allowInternetAccess', body.allow_internet_access],
    ['network', Object.keys(network).length === 0 ? undefined : network],
  ]
  const lines = fields.flatMap(([name, value]) => (value === undefined ? [] : [`  ${name}: ${javascriptValue(value)},`]))
  return `import { Sandbox } from 'e2b'\n\nconst sandbox = await Sandbox.create(${javascriptText(body.templateID)}, {\n${lines.join('\n')}\n})`
}

function pythonCode(body: NewSandboxV2): string {
  const { network } = body
  const lifecycle = {
    ...(body.autoPause === true && { on_timeout: body.autoPauseMemory === false ? { action: 'pause', keep_memory: false } : 'pause' }),
    ...(body.autoResume?.enabled === true && { auto_resume: true }),
  }
  const snakeNetwork =
    network === undefined
      ? undefined
      : Object.fromEntries(
          Object.entries(network).map(([name, value]) => [name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`), value]),
        )
  const fields: Fields = [
    ['timeout', body.timeout ?? 300],
    ['lifecycle', body.autoPause === true ? lifecycle : undefined],
    ['secure', body.secure],
    ['metadata', body.metadata],
    ['envs', body.envVars],
    ['allow_internet_access', body.allow_internet_access],
    ['network', snakeNetwork],
  ]
  const lines = fields.flatMap(([name, value]) => (value === undefined ? [] : [`    ${name}=${pythonValue(value)},`]))
  return `from e2b import Sandbox\n\nsandbox = Sandbox.create(\n    ${pythonValue(body.templateID)},\n${lines.join('\n')}\n)`
}

const NAME = /^[A-Za-z_$][\w$]*$/

/** A JavaScript text in single quotes. JSON's escapes are those of JavaScript. */
function javascriptText(text: string): string {
  return `'${JSON.stringify(text)
    .slice(1, -1)
    .replaceAll(String.raw`\"`, '"')
    .replaceAll("'", String.raw`\'`)}'`
}

function javascriptValue(value: unknown): string {
  if (typeof value === 'string') return javascriptText(value)
  if (Array.isArray(value)) return `[${value.map(javascriptValue).join(', ')}]`
  if (typeof value !== 'object' || value === null) return String(value)
  const members = Object.entries(value).map(
    ([name, member]) => `${NAME.test(name) ? name : javascriptText(name)}: ${javascriptValue(member)}`,
  )
  return `{ ${members.join(', ')} }`
}

/** JSON's texts are those of Python, but for the words of booleans. */
function pythonValue(value: unknown): string {
  if (typeof value === 'boolean') return value ? 'True' : 'False'
  if (value === null || value === undefined) return 'None'
  if (Array.isArray(value)) return `[${value.map(pythonValue).join(', ')}]`
  if (typeof value !== 'object') return JSON.stringify(value)
  const members = Object.entries(value).map(([name, member]) => `${JSON.stringify(name)}: ${pythonValue(member)}`)
  return `{${members.join(', ')}}`
}
