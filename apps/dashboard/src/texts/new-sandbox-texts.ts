/** The texts of screens/new-sandbox. */
export const newSandboxTexts = {
  title: 'New sandbox',
}
