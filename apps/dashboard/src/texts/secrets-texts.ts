/** The texts of screens/secrets. */
export const secretsTexts = {
  title: 'Secrets',
}
