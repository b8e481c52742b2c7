import type { Command } from 'commander'
import type { CliParts } from '../cli-parts.ts'
import { readRelease } from '../release.ts'

export function registerVersion(program: Command, { output }: CliParts): void {
  program
    .command('version')
    .description('print the versions of this program and of Node')
    .action(() => {
      const version = readRelease()
      const node = process.versions.node
      output.result({ version, node }, () => {
        output.pairs([
          ['sandyard', version],
          ['node', node],
        ])
      })
    })
}
