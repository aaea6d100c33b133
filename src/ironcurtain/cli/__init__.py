"""The command line. `main` knows the verbs; each verb is a module that is imported when it is used."""
