import type { Command } from 'commander'
import type { Node } from '@sandyard/api-contract/nodes/node'
import { ApiRefusal } from '../api-client.ts'
import type { CliParts } from '../cli-parts.ts'
import { EXIT } from '../exit-codes.ts'
import { CliFailure } from '../fail.ts'
import { sizeText } from '../size-text.ts'
import { agoText } from '../time-text.ts'

const NODE = 'id of the node'

/** Nodes, through the API with the token of an administrator. */
export function registerNodes(program: Command, parts: CliParts): void {
  const nodes = program.command('nodes').description('list and drain the servers of an installation; needs SANDYARD_ADMIN_TOKEN')
  nodes
    .command('list')
    .alias('ls')
    .description('list nodes with their figures')
    .action(() => list(parts))
  nodes
    .command('drain')
    .argument('<node>', NODE)
    .description('let a node start no sandboxes and builds; those builds that run move to others')
    .option('--keep-builds', 'let the builds that run on it finish')
    .action((node: string, { keepBuilds }: { keepBuilds?: true }) => order(parts, node, keepBuilds === true ? 'standby' : 'draining'))
  nodes
    .command('ready')
    .argument('<node>', NODE)
    .description('let a node start sandboxes and builds again')
    .action((node: string) => order(parts, node, 'ready'))
}

async function list(parts: CliParts): Promise<void> {
  const found = await parts.api.call<Node[]>('listNodes')
  const { output } = parts
  output.result(found, () =>
    output.table(
      ['ID', 'STATUS', 'SINCE', 'VERSION', 'SANDBOXES', 'CPU', 'MEMORY'],
      found.map(({ id, status, statusChangedAt, version, sandboxCount, metrics }) => [
        id,
        status,
        agoText(statusChangedAt),
        version,
        sandboxCount,
        `${metrics.cpuPercent}% of ${metrics.cpuCount}`,
        `${sizeText(metrics.memoryUsedBytes)} of ${sizeText(metrics.memoryTotalBytes)}`,
      ]),
    ),
  )
}

async function order(parts: CliParts, node: string, status: 'ready' | 'draining' | 'standby'): Promise<void> {
  try {
    await parts.api.call('updateNode', { path: { nodeID: node }, body: { status } })
  } catch (err) {
    // The answer has no body.
    if (!(err instanceof ApiRefusal) || err.status !== 404) throw err
    throw new CliFailure(EXIT.notFound, `There is no node "${node}": see \`sandyard nodes list\`.`, { cause: err })
  }
  parts.output.result({ id: node, status }, () => parts.output.line(`${node} is ${status}`))
}
