/** The texts of screens/sandbox/logs. */
export const logsTexts = {
  label: 'Log of the sandbox',
  empty: 'The sandbox has written no lines yet.',
}
