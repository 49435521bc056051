"""The paper's rivals, one small module each, behind the four calls of `evaluate.methods`.

Built by `methods`; a rival knows feature spaces, numpy and scipy, and nothing of the learner or of the protocols.
Where a reference leaves room, or takes two classes only, its module's docstring says which reading was taken.
"""
