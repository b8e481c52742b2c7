import type { Command } from 'commander'
import type { CliParts } from '../cli-parts.ts'
import { readPlace } from '../copy/sandbox-path.ts'

export function registerCp(program: Command, parts: CliParts): void {
  const command = program
    .command('cp')
    .argument('<from>', 'a path on this machine, or <id>:<path> in a sandbox')
    .argument('<to>', 'the same; one of the two is in a sandbox')
    .description('copy a file or a directory into a sandbox or out of it')
    .option('-u, --user <user>', 'the user of the files in the sandbox')
    .action(async (from: string, to: string, { user }: { user?: string }) => {
      const [source, target] = [readPlace(from), readPlace(to)]
      if ('sandboxID' in source === 'sandboxID' in target) command.error('error: exactly one of the two paths must be <id>:<path>')
      const { copy } = await import('../copy/copy.ts')
      const copied = await copy(parts, { source, target, user })
      const { output } = parts
      for (const path of copied.skipped) output.say(`left out, neither a file nor a directory: ${path}`)
      output.result(copied, () => output.say(`${copied.files} ${copied.files === 1 ? 'file' : 'files'} copied.`))
    })
}
