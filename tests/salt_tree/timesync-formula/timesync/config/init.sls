include:
  - .file
