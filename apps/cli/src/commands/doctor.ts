import type { Command } from 'commander'
import type { CliParts } from '../cli-parts.ts'
import { EXIT } from '../exit-codes.ts'
import type { DoctorOptions } from '../doctor/doctor.ts'
import { EndWith } from '../fail.ts'

export function registerDoctor(program: Command, parts: CliParts): void {
  program
    .command('doctor')
    .description('check the machine, the engine, the database and the servers; exit code 7 when a check fails')
    .option('--deep', 'also check what needs a throw-away sandbox')
    .option('--only <ids>', 'only these checks, such as E1,K4')
    .option('--fix', 'print the commands that repair findings; at a terminal run each after a yes')
    .action(async (options: DoctorOptions) => {
      // Its imports take long, and no other command needs them.
      const { doctor } = await import('../doctor/doctor.ts')
      if (!(await doctor(parts, options))) throw new EndWith(EXIT.checksFailed)
    })
}
