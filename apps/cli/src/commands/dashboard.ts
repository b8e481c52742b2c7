import type { Command } from 'commander'
import type { CliParts } from '../cli-parts.ts'

/** Whoever can write into the database is an operator. */
export function registerDashboard(program: Command, parts: CliParts): void {
  program
    .command('dashboard')
    .description('print a link that opens the dashboard as an operator, once and within a minute; needs the database')
    .action(async () => {
      const { issueLoginCode, loginLink } = await import('@sandyard/api/dashboard/login-code')
      const { output, connection } = parts
      const database = await parts.database()
      const url = loginLink(connection.clients.apiUrl, await issueLoginCode(database.db))
      output.result({ url }, () => output.line(url))
    })
}
