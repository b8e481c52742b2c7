/** The texts of screens/audit. */
export const auditTexts = {
  title: 'Audit',
}
